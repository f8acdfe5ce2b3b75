import { execFile } from 'node:child_process';
import { totalmem } from 'node:os';
import { promisify } from 'node:util';

/** A graphics card. Sizes are in bytes. */
export interface Gpu {
  readonly name: string;
  readonly total: number;
  readonly free: number;
}

/** The graphics cards, as they were seen last. */
export interface Gpus {
  now(): readonly Gpu[];
  /** Looks again, unless that was done within the last seconds. */
  look(): Promise<readonly Gpu[]>;
  /** Looks again in any case. */
  lookAgain(): Promise<readonly Gpu[]>;
}

const FRESH = 5000;
const TIMEOUT = 3000;
const MEBIBYTE = 2 ** 20;
const NVIDIA = ['--query-gpu=name,memory.total,memory.free', '--format=csv,noheader,nounits'];
const AMD = ['--showproductname', '--showmeminfo', 'vram', '--json'];

/** Asks the programs of NVIDIA and AMD. Apple's chips share the memory of the machine. */
export function createGpus(env: Readonly<Record<string, string | undefined>>): Gpus {
  let seen: readonly Gpu[] = [];
  let at = -Infinity;
  let looking: Promise<readonly Gpu[]> | null = null;
  const look = async () => {
    const [nvidia, amd] = await Promise.all([
      run('nvidia-smi', NVIDIA, env).then(readNvidia),
      run('rocm-smi', AMD, env).then(readAmd),
    ]);
    seen = [...nvidia, ...amd, ...apple()];
    at = performance.now();
    looking = null;
    return seen;
  };
  return {
    now: () => seen,
    look: () => (performance.now() - at < FRESH ? Promise.resolve(seen) : (looking ??= look())),
    // A look that runs may have seen the cards before what the caller wants to see.
    lookAgain: async () => {
      await looking;
      return (looking ??= look());
    },
  };
}

async function run(
  file: string,
  args: readonly string[],
  { PATH = '' }: Readonly<Record<string, string | undefined>>,
): Promise<string> {
  return promisify(execFile)(file, [...args], { timeout: TIMEOUT, env: { PATH } }).then(
    ({ stdout }) => stdout,
    () => '',
  );
}

function readNvidia(text: string): Gpu[] {
  return text.split('\n').flatMap((line) => {
    const [name = '', total, free] = line.split(',').map((part) => part.trim());
    if (name === '' || !Number(total)) return [];
    return [{ name, total: Number(total) * MEBIBYTE, free: Number(free) * MEBIBYTE }];
  });
}

function readAmd(text: string): Gpu[] {
  try {
    const cards = JSON.parse(text) as Record<string, Record<string, string>>;
    return Object.values(cards).flatMap((card) => {
      const total = Number(card['VRAM Total Memory (B)']);
      const used = Number(card['VRAM Total Used Memory (B)']);
      const name = card['Card Series'] ?? card['Card series'] ?? 'AMD';
      return total > 0 ? [{ name, total, free: total - used }] : [];
    });
  } catch {
    return [];
  }
}

const APPLE = 'Apple';

/** Whether a card has memory besides that of the machine. */
export const hasOwnMemory = ({ name }: Gpu): boolean => name !== APPLE;

/** The memory of an Apple chip is that of the machine, so none of it counts twice. */
const apple = (): Gpu[] =>
  process.platform === 'darwin' && process.arch === 'arm64'
    ? [{ name: APPLE, total: totalmem(), free: 0 }]
    : [];
