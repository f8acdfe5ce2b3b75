import { spawn } from 'node:child_process';
import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

/** What a whole process used, as the system says. */
export interface Usage {
  /** Seconds of CPU, all threads. */
  readonly cpu: number;
  /** Seconds. */
  readonly wall: number;
  /** Highest resident memory, MB. */
  readonly memory: number;
  /** It was still running when its time was up, and the other figures say nothing. */
  readonly stopped: boolean;
}

/** Runs a program of Node's in a folder, for at most `limit` milliseconds. How it ends does not matter. */
export function processUsage(args: readonly string[], cwd: string, limit: number): Promise<Usage> {
  const started = performance.now();
  const report = join(cwd, '.usage');
  const script = `process.on('exit', () => { const u = process.resourceUsage(); require('node:fs').writeFileSync(${JSON.stringify(report)}, JSON.stringify([(u.userCPUTime + u.systemCPUTime) / 1e6, u.maxRSS / 1024])); });`;
  mkdirSync(cwd, { recursive: true });
  rmSync(report, { force: true });
  writeFileSync(join(cwd, '.usage.cjs'), script);
  const child = spawn(process.execPath, ['--require', join(cwd, '.usage.cjs'), ...args], {
    cwd,
    stdio: 'ignore',
  });
  const timer = setTimeout(() => child.kill('SIGKILL'), limit);
  return new Promise((resolve, reject) => {
    child.once('error', reject);
    child.once('close', (_code, signal) => {
      clearTimeout(timer);
      const wall = (performance.now() - started) / 1000;
      const [cpu = NaN, memory = NaN] = existsSync(report)
        ? (JSON.parse(readFileSync(report, 'utf8')) as number[])
        : [];
      rmSync(report, { force: true });
      resolve({ cpu, wall, memory, stopped: signal === 'SIGKILL' });
    });
  });
}

/** The quietest of several runs: other work on the machine only ever adds. */
export function least(runs: readonly Usage[]): Usage {
  const of = (figure: 'cpu' | 'wall' | 'memory') => Math.min(...runs.map((run) => run[figure]));
  return {
    cpu: of('cpu'),
    wall: of('wall'),
    memory: of('memory'),
    stopped: runs.some(({ stopped }) => stopped),
  };
}
