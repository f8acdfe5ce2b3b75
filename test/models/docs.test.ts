import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parse } from 'yaml';
import { modelFlows } from '../../runtime/models/flows/index.ts';
import { describe, expect, it } from 'vitest';
import { readListed } from '../../runtime/models/listed.ts';
import { root, sourceFiles } from '../source-files.ts';

const text = (path: string) => readFileSync(join(root, path), 'utf8');
const page = text('runtime/models/docs/models.md');

describe('models.md', () => {
  it('has every setting that the code reads, with its default, and no other', () => {
    const source = sourceFiles('runtime/models').map(text).join('\n');
    const read = [
      ...source.matchAll(
        /settings\.(?:text|number|flag)\('([A-Z_]+)'(?:, (?:\{ default: (\d+)|(HUB)))?/g,
      ),
    ].map(([, name, number]) => [name, number]);
    const rows = [...page.split('## Settings')[1]!.matchAll(/^\| `([A-Z_]+)` \| ([^|]*) \|/gm)].map(
      ([, name, shown]) => [name, shown] as const,
    );
    expect(rows.map(([name]) => name).toSorted()).toEqual(
      [...new Set(read.map(([name]) => name))].toSorted(),
    );
    for (const [name, number] of read)
      if (number) expect([name, rows.find((row) => row[0] === name)?.[1]]).toEqual([name, number]);
  });

  it('calls only paths that there are, and every one of them', () => {
    const called = [...page.matchAll(/\/api\/mlx\/\w[\w$/]*/g)].map(([path]) =>
      path.replace('$id', ':id').replace(/\/$/, ''),
    );
    const known = new Set<string>(
      modelFlows
        .filter(({ path }) => !path.includes(':org'))
        .map(({ path }) => path.replace('/*path', '')),
    );
    expect(
      [...new Set(called.map((path) => path.replace('/v1/chat/completions', '/v1')))].toSorted(),
    ).toEqual([...known].toSorted());
  });

  it('shows a list that is understood', () => {
    const [, yaml] = /```yaml\n([^]*?)```/.exec(page) as unknown as [string, string];
    const problems: string[] = [];
    const models = readListed(parse(yaml).hosting.models.list, (line) => problems.push(line));
    expect(problems).toEqual([]);
    expect(models.map(({ id }) => id)).toEqual([
      'mlx-community/gemma-3-4b-it-4bit',
      'me/mine-GGUF',
    ]);
  });
});
