/** Names that some system forbids, or that mean something other than a file of that name, by what is wrong with them. */
export const forbiddenNames: readonly (readonly [problem: string, name: string])[] = [
  ...['CON', 'con', 'PRN', 'AUX', 'NUL', 'COM1', 'com9', 'LPT1', 'COM¹', 'CONIN$', 'conout$'].map(
    (name) => ['a device', name] as const,
  ),
  ['a device with an extension', 'aux.png'],
  ['a device with two extensions', 'nul.tar.gz'],
  ['a device with a space before the dot', 'con .png'],
  ['a stream', 'ad.png:hidden'],
  ['a stream’s type', 'ad.png::$DATA'],
  ['a drive', 'C:ad.png'],
  ...Array.from('<>"|?*', (character) => ['a reserved character', `a${character}d.png`] as const),
  ['a separator', 'my/ad.png'],
  ['Windows’ separator', 'my\\ad.png'],
  ['a path upward', '../../ad.png'],
  ['a path upward on Windows', '..\\..\\ad.png'],
  ['an absolute path', '/etc/passwd'],
  ['a network path', '\\\\server\\share\\ad.png'],
  ['a dot at the end', 'ad.png.'],
  ['a space at the end', 'ad.png '],
  ['a line break', 'a\nd.png'],
  ['a control character', 'a\u001bd.png'],
  ['a control character of Latin-1', 'a\u0085d.png'],
];

/** Names that every system accepts, although some programs don't. */
export const unusualNames: readonly (readonly [peculiarity: string, name: string])[] = [
  ['a name that begins like a device', 'console.png'],
  ['a device that has no number', 'com.png'],
  ['a number that no device has', 'com10.png'],
  ['a device as extension', 'ad.aux'],
  ['a dot at the start', '.ad.png'],
  ['a space within', 'my ad.png'],
  ['an accent in one character', 'Zo\u00eb.png'],
  ['an accent of its own', 'Zoe\u0308.png'],
  ['another script', '広告.png'],
  ['an emoji of several characters', '👨‍👩‍👧.png'],
  ['a percent sign', '100%25.png'],
  ['a leading dash', '-rf.png'],
  ['a name as long as possible', `${'a'.repeat(251)}.png`],
];
