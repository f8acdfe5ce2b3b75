import type { SitePage } from '../pages.ts';
import { titleOf } from '../pages.ts';
import { REFERENCE } from '../sections.ts';
import { benchmarksReference } from './benchmarks.ts';
import { commandsReference } from './commands.ts';
import { directivesReference } from './directives.ts';
import { errorsReference } from './errors.ts';
import { manifestReference } from './manifest.ts';
import { routesReference } from './routes.ts';

/** A page that is made from code: a new one is a new row. */
const PAGES: Readonly<Record<string, () => string>> = {
  commands: commandsReference,
  manifest: manifestReference,
  directives: directivesReference,
  routes: routesReference,
  errors: errorsReference,
  benchmarks: benchmarksReference,
};

/** The pages that are made from code. */
export function madePages(): SitePage[] {
  return Object.entries(PAGES).map(([name, make]) => {
    const text = make();
    return {
      source: `site/reference/${name}.ts`,
      path: `${REFERENCE.path}/${name}`,
      title: titleOf(text) ?? name,
      text,
      section: REFERENCE,
    };
  });
}
