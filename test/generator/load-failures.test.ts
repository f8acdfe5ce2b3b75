import { afterEach, describe, expect, test } from 'vitest';
import { createTerminal } from '../../generator/cli/terminal.ts';
import { createDevServer } from '../../generator/dev/dev-server.ts';
import { generator, linkPackages, makeProject, type TestProject } from './project.ts';

const ends: (() => unknown)[] = [];
afterEach(async () => {
  for (const end of ends.splice(0).toReversed()) await end();
});

/** Name of a mistake → what src/own.ts holds, and what is said of it. */
const MISTAKES: Readonly<Record<string, readonly [string, RegExp]>> = {
  'a syntax error': [
    'export const own = {\n  name: (,\n};\n',
    /^src\/own\.ts:2:10 {2}error {2}SYNTAX_ERROR {2}Expression expected\n[^]* 2 │ {3}name: \(,\n {6}│ {10}\^\n {3}why {2}.+\n {3}fix {2}mend the line and save/,
  ],
  'a text that does not end': [
    'export const own = 1;\nconst text = "abc;\n',
    /^src\/own\.ts:2:14 {2}error {2}SYNTAX_ERROR {2}Unterminated string constant/,
  ],
  'syntax that Node makes no code of': [
    'export enum Color { Red }\nexport const own = Color.Red;\n',
    /^src\/own\.ts:1:8 {2}error {2}SYNTAX_UNSUPPORTED {2}TypeScript enum is not supported[^]*fix {2}write it in JavaScript with types/,
  ],
  'a default export for a named one': [
    '// ours\nexport default 1;\n',
    /^src\/own\.ts:2:1 {2}error {2}FILE_EXPORT_MISSING {2}src\/own\.ts has no export named own\n[^]*why {2}src\/server\.ts:1 imports it[^]*fix {2}write export const own = … in place of export default/,
  ],
  'an import of a file that is not there': [
    'import { a } from "./nowhere.ts";\nexport const own = a;\n',
    /^src\/own\.ts:1:22 {2}error {2}IMPORT_NOT_FOUND {2}src\/own\.ts imports src\/nowhere\.ts, which is not there\n[^]*fix {2}correct the path/,
  ],
  'an import of a package that is not installed': [
    'import a from "nowhere";\nexport const own = a;\n',
    /^src\/own\.ts:1:16 {2}error {2}IMPORT_NOT_FOUND {2}src\/own\.ts imports nowhere, which is not there\n[^]*fix {2}npm install nowhere/,
  ],
};

describe('a server of dev that cannot load a file of the user', () => {
  test.each(Object.entries(MISTAKES))(
    'says file, line, what and the next step, and shows no trace: %s',
    async (_mistake, [text, expected]) => {
      const project = made({
        'package.json': '{ "type": "module" }',
        'src/server.ts': "import { own } from './own.ts';\nconsole.log(own);\n",
        'src/own.ts': text,
      });
      const said: string[] = [];
      const terminal = {
        ...createTerminal({ json: false, quiet: true, color: false }),
        say: (line: string) => void said.push(line),
      };
      const server = createDevServer(project.root, terminal);
      ends.push(() => server.stop());
      await server.restart();
      // What a process sent may come after the news that it has ended.
      await expect
        .poll(() => said.toSorted())
        .toEqual([
          'The server did not start. It starts again on the next save.',
          expect.stringMatching(expected),
        ]);
      expect(said.join('\n')).not.toMatch(/node:internal|\bat .+:\d+:\d+\)?$/m);
    },
  );
});

describe('generate', () => {
  test.each([
    ['src/routes.ts', 'export default () => {};\n', 'write export const routes = … in place of'],
    ['src/routes.ts', 'const routes = () => {};\n', 'add: export const routes = …'],
    ['src/resolvers/User.ts', 'export const User = {};\n', 'add: export const resolvers = …'],
    ['src/middleware.ts', 'export const middlewares = [];\n', 'Did you mean "middlewares"?'],
    ['src/plugins/own.ts', "export const own = { name: 'own' };\n", 'add: export default …'],
  ])('says that %s lacks its export: %j', async (file, text, fix) => {
    const project = made({
      'schema.graphql': SCHEMA,
      'manifest.yaml': 'name: shop\n',
      [file]: text,
    });
    const { code, stderr } = await generator(['generate'], project.root);
    expect([code, stderr]).toEqual([3, expect.stringMatching(/error {2}FILE_EXPORT_MISSING/)]);
    expect(stderr).toContain(`${file}:1:1`);
    expect(stderr).toContain(fix);
  });

  test.each([
    'export const routes = () => {};',
    'export function routes() {}',
    'export async function routes() {}',
    'const own = () => {};\nexport { own as routes };',
    'export const { routes } = { routes: () => {} };',
    "export * from './more.ts';",
  ])('finds the export in %j', async (text) => {
    const project = made({
      'schema.graphql': SCHEMA,
      'manifest.yaml': 'name: shop\n',
      'src/routes.ts': text,
    });
    const { stderr } = await generator(['generate'], project.root);
    expect(stderr).not.toContain('EXPORT_MISSING');
  });
});

const SCHEMA = 'type User {\n  id: ID!\n}\n\ntype Query {\n  users: [User!]!\n}\n';

function made(files: Record<string, string>): TestProject {
  const project = makeProject(files);
  linkPackages(project);
  ends.push(() => project.remove());
  return project;
}
