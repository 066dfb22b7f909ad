#!/bin/sh
# Allows the standby to connect. Runs when a node creates its data directory.
set -eu
echo 'host replication all all scram-sha-256' >>"$PGDATA/pg_hba.conf"
