import { buildTables, CRUD_FILE, type Project } from '@twofold/schema';
import { capabilityFiles } from '../templates/capabilities.ts';
import { renderApp } from '../templates/owned/app.ts';
import { renderLoaders } from '../templates/owned/loaders.ts';
import { renderModel } from '../templates/owned/model.ts';
import { renderResolvers } from '../templates/owned/resolvers.ts';
import { renderSchema } from '../templates/owned/schema.ts';
import { renderTypes } from '../templates/owned/types.ts';
import { renderAgents } from '../templates/seeded/agents.ts';
import { renderCompose, renderDockerfile } from '../templates/seeded/container.ts';
import { renderEnvExample } from '../templates/seeded/env.ts';
import {
  renderGraphqlConfig,
  renderDockerignore,
  renderGitattributes,
  renderGitignore,
} from '../templates/seeded/dot-files.ts';
import { renderPackageJson } from '../templates/seeded/package-json.ts';
import { renderReadme } from '../templates/seeded/readme.ts';
import { renderServer } from '../templates/seeded/server.ts';
import { renderSmokeTest } from '../templates/seeded/smoke-test.ts';
import { renderPagesTsconfig, renderTsconfig } from '../templates/seeded/tsconfig.ts';
import { TYPES_FILE, type Owner, type PlannedFile, type Sources } from './files.ts';
import type { PlannedMigration } from './migrations/plan.ts';
import { userPartsOf } from './user-files.ts';
import { hasSchedules } from './job-schedules.ts';

/** The input of the plan in addition to the model. */
export interface PlanOptions {
  readonly sources: Sources;
  readonly migration: PlannedMigration;
  readonly version: string;
  /** How `tsc` checks each front end: `-p web`. */
  readonly checks?: readonly string[];
  /** Called when `types.ts` is rendered; see `TypeParts`. */
  readonly printed?: () => string | undefined;
}

/** The files of a project, one row each. */
export function planFiles(
  project: Project,
  { sources, migration, version, checks = [], printed }: PlanOptions,
): PlannedFile[] {
  const user = userPartsOf(sources.userFiles);
  const generated = row('generated');
  const scaffold = row('scaffold');
  const users = row('user');
  const vendor = sources.packages === 'vendor';
  const pages = project.console?.ownPages?.folder ?? null;
  return [
    generated('src/generated/app.ts', () => renderApp(project, user, version)),
    generated('src/generated/loaders.ts', () => renderLoaders(project, user.jobs.length > 0)),
    generated('src/generated/model.ts', () => renderModel(project)),
    generated('src/generated/resolvers.ts', () => renderResolvers(project, user.resolverTypes)),
    generated('src/generated/schema.graphql.ts', () => renderSchema(project)),
    generated(TYPES_FILE, () =>
      renderTypes({
        ...{ project, tables: buildTables(project), jobs: user.jobs },
        resolverTypes: user.resolverTypes,
        printed: printed?.(),
      }),
    ),
    ...capabilityFiles(project).map(({ path, render }) => generated(path, render)),
    ...(project.crudSdl ? [generated(CRUD_FILE, () => project.crudSdl!)] : []),
    ...migration.files.map(({ path, text }) => row('append')(path, () => text)),
    users('src/server.ts', renderServer),
    users('test/smoke.test.ts', () => renderSmokeTest(project)),
    scaffold('.dockerignore', renderDockerignore),
    scaffold('.env.example', () => renderEnvExample(project)),
    scaffold('.gitattributes', renderGitattributes),
    scaffold('.gitignore', renderGitignore),
    scaffold('.graphqlrc.yaml', renderGraphqlConfig),
    scaffold('AGENTS.md', () => renderAgents(project)),
    scaffold('Dockerfile', () => renderDockerfile(project, { vendor })),
    scaffold('README.md', () => renderReadme(project)),
    scaffold('compose.yaml', () => renderCompose(project)),
    scaffold('package.json', () =>
      renderPackageJson(project, {
        source: sources.packages,
        version,
        schedules: hasSchedules(sources.otherUserTexts),
        checks,
      }),
    ),
    scaffold('tsconfig.json', () => renderTsconfig(pages)),
    ...(pages === null
      ? []
      : [scaffold(`${pages}/tsconfig.json`, () => renderPagesTsconfig(pages))]),
  ];
}

function row(owner: Owner): (path: string, render: PlannedFile['render']) => PlannedFile {
  return (path, render) => ({ path, owner, render });
}
