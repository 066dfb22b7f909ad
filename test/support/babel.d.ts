/** Types for the part of Babel 7 that the tests use. Babel 7 ships without types. */
declare module '@babel/core' {
  export function transformAsync(
    code: string,
    options: { configFile: false; compact: boolean; presets: [preset: unknown, options: object][] },
  ): Promise<{ code: string } | null>;
}

declare module '@babel/preset-env' {
  const preset: unknown;
  export default preset;
}
