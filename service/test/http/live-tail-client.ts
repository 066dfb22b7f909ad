interface Line {
  event: string;
  data: Record<string, unknown>;
}

/** Opens the live tail like an EventSource. */
export async function openLiveTail(url: string, cookie: string | undefined) {
  const response = await fetch(`${url}/panel/api/live`, {
    headers: { ...(cookie === undefined ? {} : { cookie }), 'sec-fetch-site': 'same-origin' },
  });
  const reader = response.body?.pipeThrough(new TextDecoderStream()).getReader();
  let text = '';
  const readMore = async (): Promise<boolean> => {
    const read = await reader?.read();
    text += read?.value ?? '';
    return read?.done === false;
  };
  return {
    response,
    text: () => text,
    close: () => reader?.cancel(),
    readMore,
    /** Resolves with the first `count` events. */
    async lines(count: number): Promise<Line[]> {
      const parse = () =>
        [...text.matchAll(/event: (\w+)\ndata: (.*)\n\n/g)].map(([, event = '', data = '']) => ({
          event,
          data: JSON.parse(data) as Record<string, unknown>,
        }));
      while (parse().length < count && (await readMore())) continue;
      return parse();
    },
    async readToEnd(): Promise<void> {
      while (await readMore()) continue;
    },
  };
}
