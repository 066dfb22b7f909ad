/** The files that were uploaded, so that those that nothing shows can be found and removed. */
export const uploads = {
  name: '0051-uploads',
  statements: [
    // Of the whole service: a file is stored by its content, whoever uploads it.
    `CREATE TABLE uploads (
      account_id text NOT NULL,
      name text NOT NULL,
      unused_since timestamptz,
      PRIMARY KEY (account_id, name))`,
  ],
} as const;
