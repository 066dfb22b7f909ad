/**
 * Splits a connection string with several hosts, such as `postgres://user@one:5432,two:5432/database`, into one URL per
 * host. Returns an empty list if the text is not a PostgreSQL connection string.
 */
export function listHostUrls(text: string): string[] {
  const [, before, hosts, after] =
    /^(postgres(?:ql)?:\/\/(?:[^@/]*@)?)([^/?]*)(.*)$/.exec(text) ?? [];
  if (before === undefined || hosts === undefined || after === undefined) return [];
  const urls = hosts.split(',').map((host) => `${before}${host}${after}`);
  return urls.every((url) => URL.canParse(url)) ? urls : [];
}
