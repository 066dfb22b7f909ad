#!/bin/sh
# connect.sh <coordinator> <worker…>
# Connects the nodes, and makes replication synchronous: a node acknowledges a commit only after its standby has stored it.
set -eu
coordinator=$1
port=${PGPORT:-5432}
on() {
  psql --host "$1" --dbname "$POSTGRES_DB" --set ON_ERROR_STOP=1 --no-psqlrc --quiet --command "$2"
}
on "$coordinator" "SELECT citus_set_coordinator_host('$coordinator', $port)"
for node in "$@"; do
  if [ "$node" != "$coordinator" ]; then
    on "$coordinator" "SELECT citus_add_node('$node', $port)"
  fi
  on "$node" "ALTER SYSTEM SET synchronous_standby_names = '*'"
  on "$node" 'SELECT pg_reload_conf()'
done
