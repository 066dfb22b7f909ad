/** A record of an ads.txt file (IAB Tech Lab, ads.txt 1.1): who may sell a site's ads. */
interface AdsTxtRecord {
  /** The domain of the advertising system, in lower case. */
  system: string;
  /** The id of the seller's account there. */
  seller: string;
  relationship: 'DIRECT' | 'RESELLER';
}

/** Undefined for anything else than a record: comments, variables such as `contact=`, and invalid lines. */
export function parseAdsTxtLine(line: string): AdsTxtRecord | undefined {
  const [fields = ''] = line.split(/[#;]/);
  const [system = '', seller = '', relation = ''] = fields.split(',').map((field) => field.trim());
  const relationship = relation.toUpperCase();
  if (!/^[a-z0-9-]+(\.[a-z0-9-]+)+$/i.test(system) || !/^\S+$/.test(seller)) return undefined;
  if (relationship !== 'DIRECT' && relationship !== 'RESELLER') return undefined;
  return { system: system.toLowerCase(), seller, relationship };
}

/** Those of the lines whose record is not in the file; the certification authority id, which is optional, may differ. */
export function missingAdsTxtLines(file: string, lines: readonly string[]): string[] {
  const present = new Set(
    file
      .replace(/^\uFEFF/, '')
      .split(/\r\n?|\n/)
      .map(keyOf),
  );
  return lines.filter((line) => !present.has(keyOf(line)));
}

function keyOf(line: string): string | undefined {
  const record = parseAdsTxtLine(line);
  return record && `${record.system},${record.seller},${record.relationship}`;
}
