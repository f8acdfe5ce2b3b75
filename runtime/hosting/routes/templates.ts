import { failure } from '@twofold/runtime/errors';
import { type Call, reply } from '@twofold/runtime/http';
import { newSpec, type AppFields } from '../records/fields.ts';
import { assertAppName, toEnv } from '../records/names.ts';
import { showApp } from '../records/view.ts';
import type { Template } from '../templates/template.ts';
import { fillTemplate, showTemplate } from '../templates/templates.ts';
import type { RouteParts } from './apps.ts';

export function templateHandlers(
  { core, model, deployer, addressOf }: RouteParts,
  templates: ReadonlyMap<string, Template>,
) {
  return {
    listTemplates: () =>
      reply(200, { templates: [...templates.values()].map(showTemplate), total: templates.size }),

    async deployTemplate({
      params,
      body,
    }: Call<Pick<AppFields, 'env' | 'domain'> & { readonly name: string }>) {
      const template = templates.get(params['id'] as string);
      if (!template) throw failure.notFound('Template not found');
      assertAppName(body.name);
      core.connection.engine();
      const spec = {
        ...newSpec(
          body.name,
          {
            port: template.port,
            volumes: template.volumes,
            ...(body.domain !== undefined && { domain: body.domain }),
            ...(template.command && { command: template.command }),
            ...(template.backup && { backup: template.backup }),
          },
          model,
        ),
        image: template.image,
      };
      const { generated, ...filled } = fillTemplate(template, toEnv(body.env ?? {}), {
        name: body.name,
        domain: spec.domain,
        url: addressOf(spec.domain),
      });
      const app = await core.apps.insert({ name: body.name, spec, ...filled });
      const source = { kind: 'template', template: template.id, image: template.image } as const;
      const prepare = deployer.fromImage(template.image);
      await deployer.first(app, { trigger: 'template', source, prepare });
      const shown = showApp(core.apps.byName(body.name), { addressOf, port: model.defaults.port });
      // The generated values appear only in this response. Later they are masked like other
      // secrets.
      return reply(201, { ...shown, generated });
    },
  };
}
