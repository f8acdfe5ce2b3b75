import { valuesOf } from '../parse/manifest.ts';
import { authModel, OWN_USERS } from './build.ts';
import type { Project } from '../model.ts';
import type { AuthModel } from './model.ts';

/** The model of an `auth:` section that only has the profile of a project's. */
export function defaultsOfAuth({ auth }: Project): AuthModel | undefined {
  if (!auth) return undefined;
  const values = valuesOf({ name: 'app', auth: { profile: auth.profile } });
  return authModel(values.auth!, auth.user);
}

/** The model of an empty `auth:` section, with users in a table of the runtime. */
export function defaultAuth(): AuthModel {
  return authModel(valuesOf({ name: 'app', auth: {} }).auth!, OWN_USERS);
}
