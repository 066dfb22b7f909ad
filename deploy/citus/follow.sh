#!/bin/sh
# follow.sh <primary> <settings…>: copies the primary on the first start, and follows it. The login is in PGUSER and PGPASSWORD.
set -eu
primary=$1
shift
chmod 700 "$PGDATA"
if [ ! -s "$PGDATA/PG_VERSION" ]; then
  pg_basebackup --host "$primary" --pgdata "$PGDATA" --checkpoint fast --write-recovery-conf
fi
exec "$@"
