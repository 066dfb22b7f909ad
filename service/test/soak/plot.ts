import type { Sample } from './sample.ts';

const [width, height, left, gap] = [800, 110, 190, 22];
const colors = ['#0b6bcb', '#c2410c', '#15803d', '#7c3aed'];

const panels: { title: string; read(sample: Sample): number }[] = [
  { title: 'Memory, MB', read: ({ memoryMb }) => memoryMb },
  { title: 'Heap in use, MB', read: ({ heapMb }) => heapMb },
  { title: 'Queued writes', read: ({ queued }) => queued },
  { title: 'Pending deliveries', read: ({ pending }) => pending },
  { title: 'Oldest overdue, s', read: ({ overdueS }) => overdueS },
  { title: 'Configuration age, s', read: ({ configurationAgeS }) => configurationAgeS },
];

/** Draws one chart per metric, with one line per process. */
export function plot(processes: readonly (readonly Sample[])[]): string {
  const end = Math.max(...processes.flat().map(({ minutes }) => minutes));
  const charts = panels.map(({ title, read }, index) => {
    const top = index * (height + gap) + gap;
    const maximum = Math.max(1, ...processes.flat().map(read));
    const lines = processes.map((samples, process) => {
      const points = samples.map((sample) => {
        const x = left + (sample.minutes / end) * (width - left - 10);
        const y = top + height - (read(sample) / maximum) * height;
        return `${x.toFixed(1)},${y.toFixed(1)}`;
      });
      return `<polyline points="${points.join(' ')}" fill="none" stroke="${colors[process % colors.length]}" stroke-width="1.5"/>`;
    });
    return `<text x="0" y="${top + 14}">${title}</text>
<text x="${left - 8}" y="${top + 10}" text-anchor="end" class="small">${Math.round(maximum)}</text>
<text x="${left - 8}" y="${top + height}" text-anchor="end" class="small">0</text>
<path d="M${left} ${top}V${top + height}H${width - 10}" fill="none" stroke="#888"/>
${lines.join('\n')}`;
  });
  const totalHeight = panels.length * (height + gap) + gap;
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${totalHeight + 20}" role="img" aria-label="Memory and queue sizes of ${processes.length} processes over ${Math.round(end)} minutes">
<style>text{font:13px system-ui,sans-serif;fill:#222}.small{font-size:11px;fill:#666}</style>
<rect width="100%" height="100%" fill="#fff"/>
${charts.join('\n')}
<text x="${width - 10}" y="${totalHeight + 8}" text-anchor="end" class="small">${end.toFixed(0)} minutes; one line per process</text>
</svg>
`;
}
