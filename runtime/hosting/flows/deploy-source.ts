import { failure } from '@twofold/runtime/errors';
import { bytesOf, type Call, createChecks } from '@twofold/runtime/http';
import type { SourceDeploys } from '../deploy/source-deploys.ts';
import { readJson } from '../read-bytes.ts';
import { deployConfig, type NamedFields } from '../records/app-shape.ts';
import { assertAppName, toEnv } from '../records/names.ts';
import { readForm } from '../source/multipart.ts';
import type { Spool } from '../source/spool.ts';
import { validator } from '../validator.ts';
import { stream } from '@twofold/schema';
import { text } from '@twofold/schema/shapes';
import type { Leader } from '../leader.ts';
import type { AppSpec, HostedApp } from '../records/app.ts';
import { changeSpec, newSpec, type SpecFields, toSpecFields } from '../records/fields.ts';
import { toFiles } from '../records/process-fields.ts';
import { answers } from './deploy-app.ts';
import { answer } from './deployments.ts';
import { flow, ON_ENGINE, wait } from './flow.ts';

export const deploySource = flow('POST /api/deploy', {
  needs: 'apps:write',
  summary: 'Builds and deploys a source archive',
  query: wait,
  body: stream('multipart/form-data', {
    type: 'object',
    required: ['config', 'source'],
    properties: {
      config: { ...text, contentMediaType: 'application/json', contentSchema: deployConfig },
      source: { ...text, format: 'binary' },
    },
  }),
  answers,
  refuses: [...ON_ENGINE, 413, 415, 422],
  async handle(call, leader) {
    const { apps, connection, deployer, sources } = leader;
    connection.engine();
    const { config, spool } = await readUpload(call, sources);
    try {
      const given = await givenApp(leader, config);
      const received = await sources.plan(spool, given.spec.build);
      const app = await keepApp(leader, config, given);
      const started = await deployer.begin(app, {
        trigger: 'api',
        source: { kind: 'tarball', sha256: spool.sha256 },
        builds: true,
        prepare: sources.fromUpload(received),
      });
      return await answer(started, {
        app: () => apps.byId(app.id) ?? app,
        wait: call.query.wait,
      });
    } catch (error) {
      // Does nothing when the build has already removed it.
      await spool.remove();
      throw error;
    }
  },
});

interface Upload {
  readonly config: NamedFields;
  readonly spool: Spool;
}

const check = createChecks(validator).body(deployConfig);
/** Bytes of the field `config`. */
const MAX_CONFIG = 256 * 1024;

/**
 * Reads the form of `POST /api/deploy`. The archive is checked while it arrives; the two fields may
 * come in any order.
 */
async function readUpload({ koa }: Call, sources: SourceDeploys): Promise<Upload> {
  const bytes = bytesOf(koa.req);
  let config: NamedFields | undefined;
  let spool: Spool | undefined;
  try {
    for await (const { name, data } of readForm(bytes, koa.get('Content-Type'))) {
      if (name === 'config' && !config)
        config = check(await readJson(name, data, MAX_CONFIG)) as NamedFields;
      else if (name === 'source' && !spool) spool = await sources.receive(data);
      else throw failure.badRequest(`${name.slice(0, 100)} is not a known field`);
    }
    if (!config) throw failure.badRequest('config is required');
    if (!spool) throw failure.badRequest('source is required');
    assertAppName(config.name);
    return { config, spool };
  } catch (error) {
    await spool?.remove();
    throw error;
  } finally {
    void bytes.return(undefined);
  }
}

interface GivenApp {
  readonly known: HostedApp | undefined;
  readonly fields: SpecFields;
  readonly spec: AppSpec;
}

/** The app of an upload with the upload's configuration, of which nothing is kept yet. */
async function givenApp(
  { apps, backups, model }: Leader,
  { name, env: _env, files: _files, ...fields }: NamedFields,
): Promise<GivenApp> {
  const known = apps.all().find((app) => app.name === name);
  const given = await toSpecFields(fields, known?.spec);
  const spec = known ? changeSpec(known.spec, given) : newSpec(name, given, model);
  await backups.parts.targets.assertKnown(fields.backup?.target);
  return { known, fields: given, spec };
}

async function keepApp(
  { apps, operations }: Leader,
  { name, env, files }: NamedFields,
  { known, fields, spec }: GivenApp,
): Promise<HostedApp> {
  if (!known)
    return apps.insert({
      name,
      spec,
      env: toEnv(env ?? {}),
      files: toFiles(files ?? []),
    });
  const running = operations.running(known.id);
  if (running === 'build' || running === 'deploy')
    throw failure.conflict('Another operation is running on this app: deploy');
  // Somebody may have changed the app while its source was planned.
  const current = apps.byId(known.id) ?? known;
  return apps.update(known.id, {
    spec: changeSpec(current.spec, fields),
    ...(env && { env: toEnv(env) }),
    ...(files && { files: toFiles(files) }),
  });
}
