#ifndef XD_SIM_RULES_H
#define XD_SIM_RULES_H
#include "sched/sched.h"
enum xd_rule { XD_RULE_NONE };
struct xd_rules {
    int x;
};
struct xd_rules *xd_rules_new(const struct xd_layout *l,
                              const struct xd_sched_options *o,
                              struct xd_range w);
void xd_rules_free(struct xd_rules *r);
bool xd_rules_failed(const struct xd_rules *r);
enum xd_rule xd_rules_event(struct xd_rules *r,
                            const struct xd_sched_event *ev);
enum xd_rule xd_rules_action(struct xd_rules *r,
                             const struct xd_sched_action *a, xd_usec now);
#endif
