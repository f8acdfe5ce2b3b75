import type { ValidationRule } from 'graphql';
import type { GraphqlHooks } from '../../plugin.ts';
import type { DocumentOptions } from '../document-cache.ts';
import type { Around, Leave, StartCompanion } from '../service.ts';
import { documentHooks } from './documents.ts';
import { executeHooks } from './execute.ts';
import { formatHooks } from './format.ts';
import { subscribeHooks } from './subscribe.ts';

/** The hooks of all plugins. A hook that no plugin has is undefined, so that it costs nothing. */
export interface ServiceHooks {
  readonly rules: readonly ValidationRule[];
  readonly read: DocumentOptions['read'];
  readonly around: Around | undefined;
  readonly accompany: StartCompanion | undefined;
  readonly leave: Leave | undefined;
}

/** @param plugins the hooks of each plugin, in the order of the plugins. */
export const createHooks = (plugins: readonly GraphqlHooks[]): ServiceHooks => ({
  rules: plugins.flatMap(({ validationRules = [] }) => validationRules),
  read: documentHooks(plugins),
  around: executeHooks(plugins),
  accompany: subscribeHooks(plugins),
  leave: formatHooks(plugins),
});
