import type { Block } from './page.ts';
import {
  generator,
  linkPackages,
  makeProject,
  type TestProject,
  typecheck,
} from '../generator/project.ts';
import { run } from '../server/program.ts';
import { type World, worldOf } from './world.ts';

/** The root key of the pages' servers. */
export const PAGES_KEY = 'key-of-the-pages-0123456789abcdef';

/**
 * Writes the page's example as a project, with the page's own files in their places, generates it and checks its types:
 * what the page shows of TypeScript is compiled as a reader's copy would be.
 */
export async function buildProject(
  schema: string,
  manifest: string | undefined,
  files: readonly Block[],
): Promise<TestProject> {
  const project = makeProject({
    'schema.graphql': schema,
    'manifest.yaml': manifest ?? 'name: page\n',
    ...Object.fromEntries(files.map(({ options, text }) => [options['file']!, text])),
  });
  try {
    linkPackages(project);
    const { code, stdout, stderr } = await generator(['generate'], project.root);
    if (code !== 0) throw new Error(`generate ended with ${code}:\n${stdout}${stderr}`);
    const findings = await typecheck(project.root);
    if (findings.length > 0) throw new Error(`the types are wrong:\n${findings.join('\n')}`);
    return project;
  } catch (error) {
    project.remove();
    throw error;
  }
}

/** Starts a built project over a database. */
export async function startProject({ root }: TestProject, database: string): Promise<World> {
  const env = {
    DATABASE_URL: database,
    PORT: '0',
    HOST: '127.0.0.1',
    JWT_SECRET: 'a secret of the pages that is long enough',
    API_KEY: PAGES_KEY,
    RATE_LIMIT_ENABLED: 'false',
  };
  const program = run("await import('./src/server.ts');\nexport {};\n", env, root);
  const url = await program.listening;
  const close = async () => {
    program.process.kill('SIGTERM');
    await program.ended;
  };
  return worldOf({ url, close }, async () => []);
}
