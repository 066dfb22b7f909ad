/** The variables that every command reads its configuration from. */
export const environmentHelp = `Environment
  TRUEWARD_DATA_DIR      folder of the embedded database (default .trueward)
  DATABASE_URL           a PostgreSQL server instead of the embedded database
  HOST, PORT             where to listen (default 127.0.0.1, 8700; port 0: any free one)
  PUBLIC_URL             the address by which clients know the service
  TRUEWARD_MEDIA_DIR     folder of the files under /media/ (default demo/creatives/dist)
  TRUEWARD_MASTER_KEY    32 bytes in base64 that encrypt secrets at rest (default: master.key in the data folder)
  TRUEWARD_DEVELOPMENT   1: seed a demo account, print its keys, let sandbox webhooks go to this machine
  RATE_LIMITS            on or off (default on)
  METRICS_TOKEN          what /metrics asks for as a bearer token (default: only this machine may ask)
  LOG_LEVEL              fatal, error, warn, info, debug, trace or silent (default info)
`;
