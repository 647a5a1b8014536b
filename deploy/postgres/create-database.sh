#!/bin/sh
# Run once by the image of PostgreSQL, as its superuser: creates scrubjay's user, who is not a superuser, and the database.
set -eu

psql --set=ON_ERROR_STOP=1 --set=password="$APP_PASSWORD" --username="${POSTGRES_USER:-postgres}" --dbname=postgres <<'SQL'
CREATE ROLE scrubjay LOGIN NOSUPERUSER NOBYPASSRLS NOCREATEDB NOCREATEROLE PASSWORD :'password';
CREATE DATABASE memories OWNER scrubjay;
\connect memories
CREATE EXTENSION vector;
SQL
