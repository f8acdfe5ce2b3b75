import { buildApi, buildServer } from './build/settings.ts';
import { capabilities } from './capabilities.ts';
import type { Project } from './model.ts';
import { valuesOf } from './parse/manifest.ts';
import { isData, type Data } from './manifest/shape.ts';

/**
 * A project whose code an older generator wrote, with the default of each setting that came later:
 * the code names every value that the manifest had then, and a newer server reads more of them.
 *
 * @example withLaterSettings(project).hosting // { …, previews: { limit: 10, … } }
 */
export function withLaterSettings(project: Project): Project {
  const values = valuesOf({ name: project.name });
  const models: Data = { ...project };
  const sections = capabilities.flatMap(({ name, defaults }) => {
    const own = defaults?.(project);
    return own ? [[name, filled(models[name] as object, own)] as const] : [];
  });
  return {
    ...project,
    api: filled(project.api, buildApi(values)),
    server: filled(project.server, buildServer(values)),
    ...Object.fromEntries(sections),
  };
}

/** The given values, and those of `defaults` for keys that they lack, in objects within them too. */
function filled<Values extends object>(given: Values, defaults: object): Values {
  const inner = Object.entries(given).map(([key, value]) => {
    const other = (defaults as Data)[key];
    return [key, isData(value) && isData(other) ? filled(value, other) : value];
  });
  return { ...defaults, ...Object.fromEntries(inner) };
}
