import {
  cpSync,
  existsSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { dated, setVersion } from '../../release/set-version.ts';
import { root } from '../source-files.ts';

const copy = mkdtempSync(join(tmpdir(), 'twofold-version-'));
const PARTS = ['create', 'generator', 'templates', 'schema', 'runtime', 'examples', 'package.json'];
const read = (path: string) => readFileSync(join(copy, path), 'utf8');

beforeAll(() => {
  for (const part of [...PARTS, 'package-lock.json', 'CHANGELOG.md'])
    cpSync(join(root, part), join(copy, part), {
      recursive: true,
      filter: (path) => !path.includes('node_modules'),
    });
  symlinkSync(join(root, 'node_modules'), join(copy, 'node_modules'));
});
afterAll(() => rmSync(copy, { recursive: true, force: true }));

describe('setting a version', () => {
  it('writes it into each package, the lockfile, the examples and what a server says of itself', async () => {
    await setVersion('7.8.9', copy);
    const core = JSON.parse(read('runtime/core/package.json'));
    expect(core).toMatchObject({ version: '7.8.9', dependencies: { '@twofold/schema': '7.8.9' } });
    expect(core.dependencies.koa).not.toBe('7.8.9');
    const workspaces: string[] = ['create', ...JSON.parse(read('package.json')).workspaces];
    const examples = readdirSync(join(copy, 'examples'))
      .map((name) => `examples/${name}`)
      .filter((path) => existsSync(join(copy, path, 'package.json')));
    for (const path of workspaces)
      expect([path, JSON.parse(read(`${path}/package.json`)).version]).toEqual([path, '7.8.9']);
    for (const path of [...workspaces, ...examples])
      expect([path, read(`${path}/package.json`).match(/"@twofold\/\w+": "\^?0\..*/g)]).toEqual([
        path,
        null,
      ]);
    const { packages } = JSON.parse(read('package-lock.json'));
    expect(packages['']).toMatchObject({ version: '7.8.9' });
    expect(packages['runtime/auth'].dependencies['@twofold/runtime']).toBe('7.8.9');
    expect(packages['node_modules/koa'].version).not.toBe('7.8.9');
    expect(read('runtime/core/version.ts')).toContain("'7.8.9'");
    const example = JSON.parse(read('examples/company/package.json'));
    expect(example.dependencies['@twofold/auth']).toBe('^7.8.9');
    expect(example.devDependencies['@twofold/generator']).toBe('^7.8.9');
    expect(read('CHANGELOG.md')).toMatch(/^## Unreleased\n\n## 7\.8\.9 \(\d{4}-\d\d-\d\d\)$/m);
  });

  it('changes nothing for what is no version', async () => {
    await expect(setVersion('next', copy)).rejects.toThrow(/write three numbers/);
  });

  it('needs changes that are written down', () => {
    expect(() => dated('# Changelog\n', '1.0.0', new Date())).toThrow(/Unreleased/);
    expect(dated('## Unreleased\n\n- a\n', '1.0.0', new Date(0))).toBe(
      '## Unreleased\n\n## 1.0.0 (1970-01-01)\n\n- a\n',
    );
  });
});
