import { readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'vitest';
import { makeProject, runFile } from '../generator/project.ts';
import type { Release } from './releases.ts';
import { commit, generator, succeed } from './subject.ts';

/**
 * Installs a project from a registry, adds a newer release to it and upgrades with the generator
 * that the project has installed: that one fetches the newer one, which does the work.
 */
export async function checkRegistry(url: string, from: Release, to: Release): Promise<void> {
  const project = makeProject({});
  const { root } = project;
  const npm = (...words: string[]) => succeed(runFile('npm', words, root));
  try {
    const words = ['init', root, '--template', 'blog', '--name', 'shop', '--no-install'];
    await succeed(generator(from, [...words, '--packages', 'registry', '--force'], root));
    project.write('.npmrc', `@twofold:registry=${url}\n`);
    await npm('install', '--no-audit', '--no-fund', '--loglevel=error');
    commit(root);
    const { stdout } = await npm(
      'run',
      '-s',
      'generator',
      '--',
      'upgrade',
      '--to',
      'latest',
      '--json',
    );
    expect(JSON.parse(stdout)).toMatchObject({ ok: true, to: to.version, installed: true });
    const lock = JSON.parse(project.read('package-lock.json')) as { packages: Record<string, any> };
    expect(lock.packages['node_modules/@twofold/runtime']).toMatchObject({
      version: to.version,
      integrity: expect.stringMatching(/^sha512-/),
    });
    expect(installedVersion(root)).toBe(to.version);
    await npm('run', '-s', 'check');
    await npm('ci', '--no-audit', '--no-fund', '--loglevel=error');
    await npm('test');
  } finally {
    rmSync(root, { recursive: true, force: true });
  }
}

const installedVersion = (root: string): string =>
  (
    JSON.parse(readFileSync(join(root, 'node_modules/@twofold/runtime/package.json'), 'utf8')) as {
      version: string;
    }
  ).version;
