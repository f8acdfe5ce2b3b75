import type { Random } from './random.ts';
import type { TestProject } from './project.ts';

const TEXTS = [
  'export const resolvers = {\n\tlabel: () => "tabs",\n};\n',
  'export const resolvers = {\r\n  label: () => "crlf",\r\n};\r\n',
  '\uFEFFexport const resolvers = { label: () => "bom" };\n',
  'export const renamed = {}; // no such export\n',
  'export const resolvers = { label( => broken\n',
  '',
  '// only a comment, no newline at the end',
  'export const resolvers = {};\n'.repeat(200),
  'é ∂ 漢字 \u0000 \u2028',
];

const PATHS = [
  'src/extend.ts',
  'src/auth-events.ts',
  'src/scalars.ts',
  'src/routes.ts',
  'src/server.ts',
  'src/plugins/mine.ts',
  'src/own/deep/file.ts',
  'test/smoke.test.ts',
  'test/mine.test.ts',
  'README.md',
  'tsconfig.json',
  'Dockerfile',
  '.gitignore',
  '.env',
];

/** Does something that a user does to files of theirs, and says which files now have to stay as they are. */
export function editSomething(
  project: TestProject,
  types: readonly string[],
  random: Random,
): void {
  const path = random.chance(0.4)
    ? `src/resolvers/${random.pick([...types, 'Gone', 'Query'])}.ts`
    : random.pick(PATHS);
  if (project.has(path) && random.chance(0.3))
    project.write(path, `${project.read(path)}${random.pick(TEXTS)}`);
  else project.write(path, random.pick(TEXTS));
}

/** Files that are the user's to keep: everything but what a run owns outright. */
export function usersFiles(files: Record<string, string>): Record<string, string> {
  const owned = (path: string) =>
    path.startsWith('src/generated/') ||
    path.startsWith('.generator/') ||
    path === 'generator.lock';
  return Object.fromEntries(Object.entries(files).filter(([path]) => !owned(path)));
}
