import { failure } from '@twofold/runtime/errors';
import { closed, flag, list, listed, object, type Shaped, text } from '@twofold/schema/shapes';
import { reply } from '@twofold/runtime/http';
import { domain, env, name, type NamedFields, templateApp } from '../records/app-shape.ts';
import { newSpec } from '../records/fields.ts';
import { assertAppName, toEnv } from '../records/names.ts';
import { showApp } from '../records/view.ts';
import { fillTemplate, showTemplate } from '../templates/templates.ts';
import { flow, ON_ENGINE } from './flow.ts';

const template = object({
  id: text,
  name: text,
  description: text,
  category: text,
  image: text,
  port: { type: 'integer' },
  env: list(
    object({
      key: text,
      description: text,
      secret: flag,
      default: text,
      generate: { type: 'integer' },
    }),
  ),
  volumes: list(object({ name: text, path: text })),
});

/** Each process answers it itself, as the files are the same for all. */
export const listTemplates = flow('GET /api/templates', {
  needs: 'public',
  summary: 'Lists the templates of apps',
  answers: { 200: ['The templates', listed('templates', template)] },
  handle: (_call, { templates }) =>
    reply(200, { templates: [...templates.values()].map(showTemplate), total: templates.size }),
});

export const deployTemplate = flow('POST /api/templates/:id/deploy', {
  needs: 'apps:write',
  summary: 'Creates an app from a template and deploys it',
  body: closed({ name, env, domain }, ['name']) as Shaped<
    Pick<NamedFields, 'name' | 'env' | 'domain'>
  >,
  answers: { 201: ['The app, with the generated values', templateApp] },
  refuses: ON_ENGINE,
  async handle({ params, body }, { addressOf, apps, connection, deployer, model, ...leader }) {
    const found = leader.templates.get(params.id);
    if (!found) throw failure.notFound('Template not found');
    const { id, port, volumes, image, command, backup } = found;
    assertAppName(body.name);
    connection.engine();
    const fields = {
      port,
      volumes,
      ...(body.domain !== undefined && { domain: body.domain }),
      ...(command && { command }),
      ...(backup && { backup }),
    };
    const spec = { ...newSpec(body.name, fields, model), image };
    const { generated, ...filled } = fillTemplate(found, toEnv(body.env ?? {}), {
      name: body.name,
      domain: spec.domain,
      url: addressOf(spec.domain),
    });
    const app = await apps.insert({ name: body.name, spec, ...filled });
    const source = { kind: 'template', template: id, image } as const;
    const prepare = deployer.fromImage(image);
    await deployer.first(app, { trigger: 'template', source, prepare });
    // The generated values appear only in this response. Later they are masked like other
    // secrets.
    return reply(201, { ...showApp(apps.byName(body.name), leader.shown), generated });
  },
});
