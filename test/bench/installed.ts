import { mkdirSync, readdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { packPackages } from '../../generator/packages/pack.ts';
import { runProgram } from '../../generator/run-program.ts';

const modulesOfRoot = fileURLToPath(new URL('../../node_modules/', import.meta.url));

/**
 * Gives a folder the packages as they are shipped, which is JavaScript, and everybody else's from
 * here. A server starts from them as it does for users; from our sources it would first have to
 * strip the types of hundreds of files.
 *
 * @param names of our packages, without their scope.
 */
export async function installPacks(folder: string, names: readonly string[]): Promise<void> {
  const modules = join(folder, 'node_modules');
  mkdirSync(join(modules, '@twofold'), { recursive: true });
  for (const name of readdirSync(modulesOfRoot))
    if (name !== '@twofold' && !name.startsWith('.'))
      symlinkSync(join(modulesOfRoot, name), join(modules, name));
  for (const { name, bytes } of await packPackages()) {
    const place = names.find((each) => name.startsWith(`twofold-${each}-`));
    if (!place) continue;
    mkdirSync(join(modules, '@twofold', place));
    writeFileSync(join(folder, name), bytes);
    await runProgram(
      'tar',
      ['xzf', join(folder, name), '-C', join(modules, '@twofold', place), '--strip-components=1'],
      { cwd: folder },
    );
  }
}
