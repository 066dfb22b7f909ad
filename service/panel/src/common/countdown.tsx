import { useEffect, useState } from 'react';

interface Props {
  seconds: number;
  text(left: number): string;
  /** Shown from the end on. */
  done: string;
}

/** The seconds until something can be done. */
export function Countdown({ seconds, text, done }: Props) {
  const [endsAt] = useState(() => performance.now() + seconds * 1_000);
  const [left, setLeft] = useState(seconds);
  const isOver = left === 0;
  useEffect(() => {
    if (isOver) return undefined;
    const timer = setInterval(
      () => setLeft(Math.max(0, Math.ceil((endsAt - performance.now()) / 1_000))),
      250,
    );
    return () => clearInterval(timer);
  }, [endsAt, isOver]);
  return <>{isOver ? done : text(left)}</>;
}
