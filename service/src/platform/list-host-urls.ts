/**
 * Returns the URL of each host in a connection string such as `postgres://user@one:5432,two:5432/database`.
 *
 * @returns the URLs; none if the text is not a PostgreSQL connection string
 */
export function listHostUrls(text: string): string[] {
  const [, before, hosts, after] =
    /^(postgres(?:ql)?:\/\/(?:[^@/]*@)?)([^/?]*)(.*)$/.exec(text) ?? [];
  if (before === undefined || hosts === undefined || after === undefined) return [];
  const urls = hosts.split(',').map((host) => `${before}${host}${after}`);
  return urls.every((url) => URL.canParse(url)) ? urls : [];
}
