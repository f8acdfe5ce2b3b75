import { valuesOf } from '../parse/manifest.ts';
import { authModel, OWN_USERS } from './build.ts';
import type { AuthModel } from './model.ts';

/** An `auth:` section with nothing in it, and users in a table of the runtime's own. */
export function defaultAuth(): AuthModel {
  return authModel(valuesOf({ name: 'app', auth: {} }).auth!, OWN_USERS);
}
