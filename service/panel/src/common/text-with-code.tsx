/** A sentence of the service, whose names in backticks are shown as code. */
export const TextWithCode = ({ text }: { text: string }) =>
  text.split('`').map((part, index) =>
    // The parts with odd numbers were between backticks.
    index % 2 === 0 ? part : <code key={`${index} ${part}`}>{part}</code>,
  );
