/** Link-local networks and the metadata services of clouds (CIDR): no setting allows calls to these. */
export const neverCalled: readonly string[] = [
  "169.254.0.0/16",
  "100.100.100.200/32", // Alibaba
  "168.63.129.16/32", // Azure
  "192.0.0.192/32", // Oracle
  "fe80::/10",
  "fd00:ec2::/32", // Amazon
  "fd20:ce::/32", // Google
  "fd00:42::42/128", // Scaleway
];
