import { valuesOf } from '../parse/manifest.ts';
import { authModel, OWN_USERS } from './build.ts';
import type { AuthModel } from './model.ts';

/** The model of an empty `auth:` section, with users in a table of the runtime. */
export function defaultAuth(): AuthModel {
  return authModel(valuesOf({ name: 'app', auth: {} }).auth!, OWN_USERS);
}
