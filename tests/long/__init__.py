"""What `make everything` alone runs: Postgres and lakes, MediaWiki, browsers, months, floors."""
