<?php
// Router for `php -S`: /w/*.php and /wiki/Title go to MediaWiki; a log of requests; faults.
//   $RIG_DIR/requests.jsonl  a line a request: time, method, uri, post, agent, status asked for
//   $RIG_DIR/fault           "KIND COUNT [RETRY_AFTER [EVERY]]": of the next requests every EVERYth
//                            is answered so, COUNT times. KIND: an HTTP status, `maxlag` (200 with
//                            an error), `drop` (a body that is cut), `slow` (2 s, then the answer).
$rigDir = getenv( 'RIG_DIR' );
$rigMw = getenv( 'RIG_MEDIAWIKI' );
$rigPath = parse_url( $_SERVER['REQUEST_URI'], PHP_URL_PATH );

function rigFault( string $file ): ?array {
	$handle = is_file( $file ) ? fopen( $file, 'r+' ) : false;
	if ( !$handle ) {
		return null;
	}
	flock( $handle, LOCK_EX );
	[ $kind, $left, $wait, $every, $seen ] =
		explode( ' ', trim( stream_get_contents( $handle ) ) ) + [ '', 0, 1, 1, 0 ];
	$due = (int)$left > 0 && ( (int)$seen + 1 ) % max( 1, (int)$every ) === 0;
	ftruncate( $handle, 0 );
	rewind( $handle );
	fwrite( $handle, implode( ' ', [ $kind, (int)$left - (int)$due, $wait, $every, (int)$seen + 1 ] ) );
	fclose( $handle );
	return $due ? [ $kind, $wait ] : null;
}

$rigFault = rigFault( "$rigDir/fault" );
file_put_contents( "$rigDir/requests.jsonl", json_encode( [
	'time' => microtime( true ), 'method' => $_SERVER['REQUEST_METHOD'], 'uri' => $_SERVER['REQUEST_URI'],
	'post' => $_POST, 'agent' => $_SERVER['HTTP_USER_AGENT'] ?? '', 'fault' => $rigFault[0] ?? null,
], JSON_UNESCAPED_SLASHES | JSON_UNESCAPED_UNICODE ) . "\n", FILE_APPEND | LOCK_EX );

if ( $rigFault ) {
	[ $rigKind, $rigWait ] = $rigFault;
	if ( $rigKind !== 'slow' ) {
		header( "Retry-After: $rigWait" );
	}
	if ( $rigKind === 'maxlag' ) {
		header( 'Content-Type: application/json; charset=utf-8' );
		header( 'MediaWiki-API-Error: maxlag' );
		exit( '{"error":{"code":"maxlag","info":"Waiting for a database: 7 seconds lagged.","lag":7}}' );
	} elseif ( $rigKind === 'drop' ) {
		header( 'Content-Type: application/json; charset=utf-8' );
		header( 'Content-Length: 1000' );
		exit( '{"batchcomplete":true,"query":{"pa' );
	} elseif ( $rigKind === 'slow' ) {
		sleep( 2 );
	} else {
		http_response_code( (int)$rigKind );
		header( 'Content-Type: text/html; charset=utf-8' );
		exit( "<!DOCTYPE html><title>Error</title><p>Error $rigKind</p>" );
	}
}

if ( preg_match( '#^/w/(api|index|load|rest)\.php(/.*)?$#', $rigPath, $rigMatch ) ) {
	$rigScript = $rigMatch[1];
	if ( isset( $rigMatch[2] ) ) {
		$_SERVER['PATH_INFO'] = rawurldecode( $rigMatch[2] );
	}
} elseif ( $rigPath === '/' || str_starts_with( $rigPath, '/wiki/' ) ) {
	$rigScript = 'index';
} else {
	http_response_code( 404 );
	exit( 'not found' );
}
$_SERVER['SCRIPT_NAME'] = $_SERVER['PHP_SELF'] = "/w/$rigScript.php";
$_SERVER['SCRIPT_FILENAME'] = "$rigMw/$rigScript.php";
chdir( $rigMw );
require "$rigMw/$rigScript.php";
