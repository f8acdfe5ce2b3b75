import { finding, type Rule } from '../../rules/finding.ts';

/** A host with a dot or a port, or `localhost`, as an image's name must have it; then the folder. */
const HOST =
  '(?:localhost|[a-z0-9](?:[a-z0-9-]*[a-z0-9])?(?:\\.[a-z0-9](?:[a-z0-9-]*[a-z0-9])?)+)(?::\\d{1,5})?';
const HOST_WITH_PORT = '[a-z0-9](?:[a-z0-9-]*[a-z0-9])?:\\d{1,5}';
const PART = '[a-z0-9]+(?:(?:\\.|_{1,2}|-+)[a-z0-9]+)*';
const REGISTRY = new RegExp(`^(?:${HOST}|${HOST_WITH_PORT})(?:/${PART})*$`);
/** The longest name of an image is 255 characters, and the app's name of up to 63 is added. */
const LONGEST = 190;

/** HOSTING_REGISTRY_INVALID: `hosting.registry` must be what an image's name can begin with. */
export const registry: Rule = function* ({ facts }) {
  const { values, at } = facts.manifest;
  const name = values.hosting?.registry;
  if (name == null || (REGISTRY.test(name) && name.length <= LONGEST)) return;
  yield finding('HOSTING_REGISTRY_INVALID', at(['hosting', 'registry']), {
    summary: `hosting.registry: ${name} is no place in a registry`,
    why: 'an image is pushed as <registry>/<app>: a host with a dot or a port, then a path, in lower case, without https:// and without a tag',
    fix: 'registry.example.com/team',
  });
};
