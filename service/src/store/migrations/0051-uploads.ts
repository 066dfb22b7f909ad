/** Uploaded files, so that unused ones can be found and deleted. */
export const uploads = {
  name: '0051-uploads',
  statements: [
    // Service-wide: a file is stored by its content hash, whoever uploads it.
    `CREATE TABLE uploads (
      account_id text NOT NULL,
      name text NOT NULL,
      unused_since timestamptz,
      PRIMARY KEY (account_id, name))`,
  ],
} as const;
