#!/bin/sh
# follow.sh <primary> <settings…>: copies the primary on the first start, then replicates from it, with PGUSER and PGPASSWORD.
set -eu
primary=$1
shift
chmod 700 "$PGDATA"
if [ ! -s "$PGDATA/PG_VERSION" ]; then
  pg_basebackup --host "$primary" --pgdata "$PGDATA" --checkpoint fast --write-recovery-conf
fi
exec "$@"
