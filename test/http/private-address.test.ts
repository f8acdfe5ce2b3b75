import { describe, expect, it } from 'vitest';
import { isPrivateAddress, isPrivateHost } from '../../runtime/core/http/private-address.ts';

describe('private addresses', () => {
  it('are known in every form, public ones are not among them', () => {
    for (const address of [
      '127.0.0.1',
      '10.1.2.3',
      '172.31.0.1',
      '192.168.1.1',
      '169.254.169.254',
      '100.64.0.1',
      '198.18.0.1',
      '0.0.0.0',
      '224.0.0.1',
      '255.255.255.255',
      '::',
      '::1',
      'fe80::1',
      'fe80::1%eth0',
      'fd00::1',
      'fec0::1',
      'ff02::1',
      '64:ff9b:1::1',
      '::ffff:127.0.0.1',
      '::ffff:7f00:1',
      'no address',
    ])
      expect(isPrivateAddress(address), address).toBe(true);
    for (const address of ['93.184.216.34', '1.1.1.1', '2606:4700::1111', '172.32.0.1'])
      expect(isPrivateAddress(address), address).toBe(false);
  });

  it('that IPv6 carries decide of it: NAT64, 6to4, Teredo and IPv4-compatible', () => {
    // Teredo turns the bits of the client over: f5ff:fffe is 10.0.0.1, f7f7:f7f7 is 8.8.8.8.
    for (const address of [
      '64:ff9b::10.0.0.1',
      '64:ff9b::7f00:1',
      '2002:7f00:1::1',
      '2002:a9fe:a9fe::',
      '2001:0:a00:1::f7f7:f7f7',
      '2001:0:808:808::f5ff:fffe',
      '::10.0.0.1',
    ])
      expect(isPrivateAddress(address), address).toBe(true);
    for (const address of [
      '64:ff9b::8.8.8.8',
      '2002:808:808::1',
      '2001:0:808:808::f7f7:f7f7',
      '::ffff:8.8.8.8',
    ])
      expect(isPrivateAddress(address), address).toBe(false);
  });

  it('stand in a URL as literals or as names of loopback; other names are not judged', () => {
    for (const host of ['[::1]', '10.0.0.1', 'localhost', 'LOCALHOST.', 'a.localhost'])
      expect(isPrivateHost(host), host).toBe(true);
    for (const host of ['[2606:4700::1111]', '8.8.8.8', 'localhost.test', 'mylocalhost'])
      expect(isPrivateHost(host), host).toBe(false);
  });
});
