#!/bin/sh
# follow.sh <primary> <command…>
# On the first start, copies the primary, signing in with PGUSER and PGPASSWORD. Then runs the command, which starts the
# standby.
set -eu
primary=$1
shift
chmod 700 "$PGDATA"
if [ ! -s "$PGDATA/PG_VERSION" ]; then
  pg_basebackup --host "$primary" --pgdata "$PGDATA" --checkpoint fast --write-recovery-conf
fi
exec "$@"
