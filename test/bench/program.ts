import type { ChildProcess } from 'node:child_process';
import { readFile } from 'node:fs/promises';

/** The port of a server that was started as a program, once it says so. */
export function portOf(child: ChildProcess): Promise<number> {
  return new Promise((resolve, reject) => {
    let text = '';
    child.stdout?.on('data', (chunk) => {
      text += chunk;
      const port = /listening on http:\/\/[^:]+:(\d+)/.exec(text)?.[1];
      if (port) resolve(Number(port));
    });
    child.stderr?.on('data', (chunk) => void (text += chunk));
    child.once('exit', () => reject(new Error(`the server ended: ${text}`)));
  });
}

/** Milliseconds of CPU, from `/proc` (in ticks of 10 ms). */
export async function cpuOf(pid: number): Promise<number> {
  const fields = (await readFile(`/proc/${pid}/stat`, 'utf8')).split(') ')[1]?.split(' ') ?? [];
  return (Number(fields[11]) + Number(fields[12])) * 10;
}

/** A process and those that it started, from `/proc`. */
export async function familyOf(pid: number): Promise<readonly number[]> {
  const children = (await readFile(`/proc/${pid}/task/${pid}/children`, 'utf8'))
    .trim()
    .split(' ')
    .filter(Boolean)
    .map(Number);
  return [pid, ...(await Promise.all(children.map(familyOf))).flat()];
}

export function ended(child: ChildProcess): Promise<void> {
  return new Promise((resolve) => {
    child.once('exit', () => resolve());
    child.kill('SIGTERM');
  });
}
