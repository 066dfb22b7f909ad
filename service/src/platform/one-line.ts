/**
 * Returns a name, such as a file's or an advertiser's, as one line that can be stored and shown. Returns undefined if
 * nothing visible is left. Control characters, line separators, unpaired surrogates and characters that turn the text
 * around become spaces. Two spellings of a character in Unicode become one.
 */
export function toOneLine(text: string, maxLength: number): string | undefined {
  const line = text
    .slice(0, maxLength)
    .normalize('NFC')
    .slice(0, maxLength)
    .replaceAll(/[\s\p{Cc}\p{Cs}\p{Bidi_Control}]+/gu, ' ')
    .trim();
  return /[^\s\p{Cc}\p{Cf}\p{Default_Ignorable_Code_Point}]/u.test(line) ? line : undefined;
}
