interface LiveEvent {
  event: string;
  data: Record<string, unknown>;
}

/** Opens the live tail the way an EventSource does. */
export async function openLiveTail(url: string, cookie: string | undefined) {
  const response = await fetch(`${url}/panel/api/live`, {
    headers: { ...(cookie === undefined ? {} : { cookie }), 'sec-fetch-site': 'same-origin' },
  });
  const reader = response.body?.pipeThrough(new TextDecoderStream()).getReader();
  let text = '';
  const readMore = async (): Promise<boolean> => {
    const result = await reader?.read();
    text += result?.value ?? '';
    return result?.done === false;
  };
  return {
    response,
    text: () => text,
    close: () => reader?.cancel(),
    readMore,
    /** Resolves with the first `count` events. */
    async waitForEvents(count: number): Promise<LiveEvent[]> {
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
