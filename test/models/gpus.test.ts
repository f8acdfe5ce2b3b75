import { chmodSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, describe, expect, it } from 'vitest';
import { createGpus } from '../../runtime/models/pool/gpus.ts';
import { type ModelsServer, startModels } from './server.ts';

const MIB = 2 ** 20;
/** What `rocm-smi --showproductname --showmeminfo vram --json` prints for two cards. */
const ROCM = {
  card0: {
    'VRAM Total Memory (B)': '17163091968',
    'VRAM Total Used Memory (B)': '1163091968',
    'Card Series': 'Navi 21 [Radeon RX 6800 XT]',
    'Card Vendor': 'Advanced Micro Devices, Inc. [AMD/ATI]',
  },
  card1: {
    'VRAM Total Memory (B)': '8573157376',
    'VRAM Total Used Memory (B)': '73157376',
    'Card series': 'Instinct MI50',
  },
  system: { 'Driver version': '6.8.5' },
};
const AMD = [
  { name: 'Navi 21 [Radeon RX 6800 XT]', total: 17_163_091_968, free: 16_000_000_000 },
  { name: 'Instinct MI50', total: 8_573_157_376, free: 8_500_000_000 },
];

describe('graphics cards', () => {
  let folder = '';
  let server: ModelsServer | undefined;
  /** Puts programs of the test in place of those of the vendors. */
  const install = (programs: Readonly<Record<string, string>>) => {
    folder = mkdtempSync(join(tmpdir(), 'tf-gpus-'));
    for (const [name, text] of Object.entries(programs)) {
      writeFileSync(join(folder, name), `#!/bin/sh\n${text}\n`);
      chmodSync(join(folder, name), 0o755);
    }
    return { PATH: `${folder}:/usr/bin:/bin` };
  };
  const rocm = (answer: string) =>
    `[ "$*" = "--showproductname --showmeminfo vram --json" ] || exit 2\ncat <<'END'\n${answer}\nEND`;
  afterEach(async () => {
    await server?.end();
    server = undefined;
    rmSync(folder, { recursive: true, force: true });
  });

  it('of AMD are those that rocm-smi names, with what is free of each', async () => {
    const env = install({ 'rocm-smi': rocm(JSON.stringify(ROCM)) });
    server = await startModels({ env });
    const { memory } = (await server.call('GET', '/api/mlx/models')).body;
    expect(memory.gpus).toEqual(AMD);
  });

  it('of both vendors are seen together, and none where a program fails or says nonsense', async () => {
    const nvidia = 'echo "Test GPU, 24576, 20480"\necho "Other GPU, 1000, 900"';
    const cards = [
      { name: 'Test GPU', total: 24_576 * MIB, free: 20_480 * MIB },
      { name: 'Other GPU', total: 1000 * MIB, free: 900 * MIB },
    ];
    const both = install({ 'nvidia-smi': nvidia, 'rocm-smi': rocm(JSON.stringify(ROCM)) });
    expect(await createGpus(both).look()).toEqual([...cards, ...AMD]);
    rmSync(folder, { recursive: true });
    const broken = install({ 'nvidia-smi': 'echo "No devices were found"', 'rocm-smi': rocm('{') });
    expect(await createGpus(broken).look()).toEqual([]);
    rmSync(folder, { recursive: true });
    const failing = install({ 'nvidia-smi': `${nvidia}\nexit 9`, 'rocm-smi': 'exit 1' });
    expect(await createGpus(failing).look()).toEqual([]);
  });

  it('are looked at again when a model was loaded, and otherwise once in some seconds', async () => {
    const file = 'free';
    const env = install({
      'nvidia-smi': `echo "Test GPU, 1000, $(cat "$(dirname "$0")/${file}")"`,
    });
    const gpus = createGpus(env);
    const free = async (look: () => Promise<readonly { free: number }[]>) =>
      (await look())[0]!.free / MIB;
    writeFileSync(join(folder, file), '900');
    expect(await free(gpus.look)).toBe(900);
    writeFileSync(join(folder, file), '300');
    expect(await free(gpus.look)).toBe(900);
    expect(await free(gpus.lookAgain)).toBe(300);
    expect(await free(gpus.look)).toBe(300);
  });
});
