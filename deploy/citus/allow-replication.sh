#!/bin/sh
# Runs when a node creates its data directory: lets the standby connect.
set -eu
echo 'host replication all all scram-sha-256' >>"$PGDATA/pg_hba.conf"
