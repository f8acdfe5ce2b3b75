import { execFileSync } from 'node:child_process';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { syntheticSchema } from '../../generator/synthetic.ts';

/** With their inputs they are 1,006 types, which the limit is for. */
const ENTITIES = 334;

/** A repository whose last commit has 1,000 types, and whose folder changes two of their fields. */
export function writeRepository(folder: string): void {
  mkdirSync(folder);
  const git = (...words: string[]) =>
    execFileSync('git', ['-c', 'user.name=t', '-c', 'user.email=t@example.com', ...words], {
      cwd: folder,
    });
  const sdl = syntheticSchema(ENTITIES);
  writeFileSync(join(folder, 'schema.graphql'), sdl);
  writeFileSync(join(folder, 'manifest.yaml'), 'name: shop\n');
  git('init', '--quiet');
  git('add', '--all');
  git('commit', '--quiet', '--message=base');
  const changed = sdl.replace('  note: String\n', '').replace('  amount: Float\n', '');
  writeFileSync(join(folder, 'schema.graphql'), changed);
}
