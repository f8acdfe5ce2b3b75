import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/**
 * The global set-up of vitest: all tests have a temporary folder of their own. At the end it must be empty, and no
 * process that a test started may live on; what is left is named, removed and ended, and the run fails.
 */
export default function useTemporaryFolder(): () => Promise<void> {
  // Short, as the address of a Unix socket has at most 107 bytes.
  const folder = mkdtempSync(join(tmpdir(), 't-'));
  process.env['TMPDIR'] = folder;
  return async () => {
    // A process that ends writes what it compiled, which takes seconds on a busy machine.
    const processes = await goneWithin(30_000, () => processesWith(`TMPDIR=${folder}`));
    for (const { id } of processes) process.kill(id, 'SIGKILL');
    // Node and Chromium keep caches there, which are nobody's to remove.
    const files = readdirSync(folder).filter((name) => !/^(node-compile-cache|v8-)/.test(name));
    rmSync(folder, { recursive: true, force: true });
    const left = [...processes.map(({ command }) => `the process ${command}`), ...files];
    if (left.length > 0) throw new Error(`the tests left behind:\n  ${left.join('\n  ')}`);
  };
}

/** What is found until it is nothing, or the time is over. */
async function goneWithin<T>(patience: number, look: () => T[]): Promise<T[]> {
  const end = Date.now() + patience;
  let found = look();
  while (found.length > 0 && Date.now() < end) {
    await new Promise((resolve) => setTimeout(resolve, 100));
    found = look();
  }
  return found;
}

/** Processes that have this setting, but for this one and the workers of vitest. Only Linux tells. */
function processesWith(setting: string): { readonly id: number; readonly command: string }[] {
  if (process.platform !== 'linux') return [];
  return readdirSync('/proc').flatMap((name) => {
    const id = Number(name);
    if (!Number.isInteger(id) || id === process.pid) return [];
    try {
      if (!readFileSync(`/proc/${name}/environ`, 'utf8').split('\0').includes(setting)) return [];
      const words = readFileSync(`/proc/${name}/cmdline`, 'utf8').split('\0');
      const command = words.join(' ').trim();
      return command === '' || /\bvitest\b/.test(command) ? [] : [{ id, command }];
    } catch {
      return []; // It has ended since, or is of another user.
    }
  });
}
