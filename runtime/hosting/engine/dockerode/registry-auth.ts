import { DOCKER_HUB } from '../../registries/host.ts';
import type { RegistryLogin } from '../images.ts';

/** A login in the form of Docker's API, which Podman's API shares. */
export interface RegistryAuth {
  readonly username: string;
  readonly password: string;
  readonly identitytoken?: string;
  readonly serveraddress: string;
}

/** Docker's own registry has an address of its own in the API. */
const HUB_ADDRESS = 'https://index.docker.io/v1/';

export function registryAuth(login: RegistryLogin): RegistryAuth {
  const { host, username, password, identityToken } = login;
  return {
    username,
    password,
    ...(identityToken !== undefined && { identitytoken: identityToken }),
    serveraddress: host === DOCKER_HUB ? HUB_ADDRESS : host,
  };
}
