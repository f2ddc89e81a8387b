#!/bin/sh
# A database and a user for each service: none of them is a superuser or reaches the other's.
# Postgres's image runs this once, when the volume is new, as its superuser over its socket.
set -eu
: "${SERVER_DATABASE_PASSWORD:?write it into .env}" "${WORKER_DATABASE_PASSWORD:?write it into .env}"

# psql reads the passwords from the environment: as arguments every process would see them.
psql --no-psqlrc --quiet --set=ON_ERROR_STOP=1 --dbname="${POSTGRES_DB:-postgres}" <<'SQL'
\getenv server_password SERVER_DATABASE_PASSWORD
\getenv worker_password WORKER_DATABASE_PASSWORD
-- An error's statement goes to the log, and these hold passwords.
SET log_min_error_statement = panic;
SET password_encryption = 'scram-sha-256';
CREATE ROLE prefect LOGIN NOSUPERUSER NOCREATEDB NOCREATEROLE NOREPLICATION NOBYPASSRLS
  PASSWORD :'server_password';
CREATE ROLE evergreen LOGIN NOSUPERUSER NOCREATEDB NOCREATEROLE NOREPLICATION NOBYPASSRLS
  PASSWORD :'worker_password';
CREATE DATABASE prefect OWNER prefect;
CREATE DATABASE evergreen OWNER evergreen;
REVOKE ALL ON DATABASE prefect, evergreen, postgres, template1 FROM PUBLIC;
SQL

# Over the network each user reaches its own database, and the superuser none.
{
  echo '# Written by databases.sh'
  echo 'local all all trust'
  echo 'host prefect prefect all scram-sha-256'
  echo 'host evergreen evergreen all scram-sha-256'
} >"$PGDATA/pg_hba.conf"
