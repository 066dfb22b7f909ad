/** A record in an ads.txt file (IAB Tech Lab, ads.txt 1.1). It authorizes a company to sell a site's ad inventory. */
interface AdsTxtRecord {
  /** The domain of the advertising system, in lowercase. */
  system: string;
  /** The id of the seller's account in that system. */
  seller: string;
  relationship: 'DIRECT' | 'RESELLER';
}

/** Parses a line. Returns undefined for comments, variables such as `contact=`, and invalid lines. */
export function parseAdsTxtLine(line: string): AdsTxtRecord | undefined {
  const [fields = ''] = line.split(/[#;]/);
  const [system = '', seller = '', relation = ''] = fields.split(',').map((field) => field.trim());
  const relationship = relation.toUpperCase();
  if (!/^[a-z0-9-]+(\.[a-z0-9-]+)+$/i.test(system) || !/^\S+$/.test(seller)) return undefined;
  if (relationship !== 'DIRECT' && relationship !== 'RESELLER') return undefined;
  return { system: system.toLowerCase(), seller, relationship };
}

/** Returns the given lines that are missing from the file. Ignores certification authority ids. */
export function missingAdsTxtLines(file: string, lines: readonly string[]): string[] {
  const existingKeys = new Set(parseRecords(file).map(makeKey));
  return lines.filter((line) => {
    const record = parseAdsTxtLine(line);
    return !record || !existingKeys.has(makeKey(record));
  });
}

/** A seller of the site's ad inventory in an advertising system. */
export interface Seller {
  /** The domain of the advertising system. By default, any system matches. */
  system?: string;
  seller: string;
}

/** Returns the given sellers that are missing from the file. */
export function missingSellers(file: string, sellers: readonly Seller[]): Seller[] {
  const records = parseRecords(file);
  return sellers.filter(
    ({ system, seller }) =>
      !records.some(
        (record) => record.seller === seller && (system === undefined || record.system === system),
      ),
  );
}

const parseRecords = (file: string): AdsTxtRecord[] =>
  file
    .replace(/^\uFEFF/, '')
    .split(/\r\n?|\n/)
    .flatMap((line) => parseAdsTxtLine(line) ?? []);

const makeKey = ({ system, seller, relationship }: AdsTxtRecord): string =>
  `${system},${seller},${relationship}`;
