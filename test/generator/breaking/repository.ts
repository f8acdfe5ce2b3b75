import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { makeProject, type TestProject } from '../project.ts';

export const sha256 = (text: string): string => createHash('sha256').update(text).digest('hex');

/** A list of trusted documents, as it stands in the file. */
export const listOf = (...texts: readonly string[]): string =>
  `${JSON.stringify(Object.fromEntries(texts.map((text) => [sha256(text), text])), null, 2)}\n`;

/** A project of these files that has one commit of them. */
export function committed(files: Record<string, string>): TestProject {
  const project = makeProject(files);
  git(project, 'init', '--quiet', '--initial-branch=main');
  commit(project);
  return project;
}

export function commit(project: TestProject): void {
  git(project, 'add', '--all');
  git(project, 'commit', '--quiet', '--allow-empty', '--message=change');
}

export const git = ({ root }: TestProject, ...args: readonly string[]): string =>
  execFileSync('git', ['-c', 'user.name=t', '-c', 'user.email=t@example.com', ...args], {
    cwd: root,
    encoding: 'utf8',
  });
