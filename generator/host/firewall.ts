/** The ports that clients must reach. */
export interface HostPorts {
  readonly http: number;
  readonly https: number;
}

/** Lines for the operator: which of them is right depends on the firewall in use. None is run. */
export function firewallLines({ http, https }: HostPorts): readonly string[] {
  return [
    `ufw allow ${http}/tcp && ufw allow ${https}/tcp`,
    `firewall-cmd --permanent --add-port=${http}/tcp --add-port=${https}/tcp && firewall-cmd --reload`,
    `nft add rule inet filter input tcp dport { ${http}, ${https} } accept`,
  ];
}
