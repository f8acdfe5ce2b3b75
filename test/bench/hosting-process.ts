import { readdirSync, readFileSync } from 'node:fs';

/** Seconds of CPU that a process and those it started have used. */
export function cpuOf(pid: number): number {
  const processes = readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .flatMap(statOf);
  const sum = (id: number): number =>
    processes.reduce(
      (total, each) =>
        total + (each.pid === id ? each.ticks : each.parent === id ? sum(each.pid) : 0),
      0,
    );
  // USER_HZ is 100 on every Linux that Node runs on.
  return sum(pid) / 100;
}

function statOf(pid: string) {
  try {
    const text = readFileSync(`/proc/${pid}/stat`, 'utf8');
    const fields = text.slice(text.lastIndexOf(')') + 2).split(' ');
    return [
      {
        pid: Number(pid),
        parent: Number(fields[1]),
        ticks: Number(fields[11]) + Number(fields[12]),
      },
    ];
  } catch {
    return []; // It has ended since it was listed.
  }
}
