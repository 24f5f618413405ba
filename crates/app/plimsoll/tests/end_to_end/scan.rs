//! `scan` beside real routers: keepalived and ucarp in network namespaces of the test's own.
//! Skipped where they are not installed or namespaces cannot be made.

use std::process::{Child, Command, Output, Stdio};
use std::sync::atomic::{AtomicU32, Ordering};
use std::thread::sleep;
use std::time::Duration;

use serde_json::Value;

use crate::scene::{Ran, Scene};

/// Between a start and the first word of a master.
const STARTUP: Duration = Duration::from_secs(5);

/// A bridge in a namespace, and routers in others, each with a cable to it.
struct Net {
    scene: Scene,
    prefix: String,
    spaces: Vec<String>,
    running: Vec<Child>,
}

fn run(words: &[&str]) -> Option<Output> {
    Command::new(words[0]).args(&words[1..]).stdin(Stdio::null()).output().ok()
}

impl Net {
    /// None, with the reason said, where this machine cannot.
    fn new(name: &str) -> Option<Self> {
        static COUNT: AtomicU32 = AtomicU32::new(0);
        for (program, option) in [("keepalived", "-v"), ("ucarp", "-h"), ("ip", "-V")] {
            if run(&[program, option]).is_none() {
                eprintln!("skipped: {program} is not installed");
                return None;
            }
        }
        let number = COUNT.fetch_add(1, Ordering::Relaxed);
        let mut net = Self {
            scene: Scene::new(name),
            prefix: format!("plim{}x{number}", std::process::id()),
            spaces: Vec::new(),
            running: Vec::new(),
        };
        if !net.space() {
            eprintln!("skipped: network namespaces cannot be made here");
            return None;
        }
        net.ip(0, "link add br0 type bridge");
        net.ip(0, "addr add 10.9.0.99/24 dev br0");
        net.ip(0, "link set br0 up");
        Some(net)
    }

    fn space(&mut self) -> bool {
        let name = format!("{}n{}", self.prefix, self.spaces.len());
        let made = run(&["ip", "netns", "add", &name]).is_some_and(|made| made.status.success());
        if made {
            self.spaces.push(name);
        }
        made
    }

    fn ip(&self, space: usize, words: &str) {
        let mut command = Command::new("ip");
        command.args(["-n", &self.spaces[space]]).args(words.split(' '));
        let done = command.output().unwrap();
        assert!(done.status.success(), "ip {words}: {done:?}");
    }

    /// A new namespace with an address and a cable; its number is the last octet.
    fn host(&mut self) -> usize {
        assert!(self.space());
        let host = self.spaces.len() - 1;
        let name = &self.spaces[host];
        self.ip(0, &format!("link add v{host} type veth peer name eth0 netns {name}"));
        self.ip(0, &format!("link set v{host} master br0 up"));
        self.ip(host, &format!("addr add 10.9.0.{host}/24 dev eth0"));
        self.ip(host, "link set eth0 up");
        host
    }

    fn inside(&self, space: usize, program: &str) -> Command {
        let mut command = Command::new("ip");
        command.args(["netns", "exec", &self.spaces[space], program]);
        command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
        command
    }

    /// Starts keepalived on a separate host: version, id, priority, address.
    fn keepalived(&mut self, version: u8, id: u8, priority: u8, address: u8) -> usize {
        let host = self.host();
        let address = format!("10.9.0.{address}");
        self.router(host, "eth0", (version, id, priority), &address)
    }

    /// Starts keepalived on `host`: version, id and priority.
    fn router(
        &mut self,
        host: usize,
        interface: &str,
        (version, id, priority): (u8, u8, u8),
        address: &str,
    ) -> usize {
        let text = format!(
            "global_defs {{ router_id r{host}\nvrrp_version {version}\nscript_user root\n}}\n\
             vrrp_instance v {{ state BACKUP\ninterface {interface}\nvirtual_router_id {id}\n\
             priority {priority}\nadvert_int 1\n\
             virtual_ipaddress {{\n{address}\n}}\n}}\n"
        );
        let file = format!("k{host}.conf");
        self.scene.write(&file, text.as_bytes());
        let path = |ending: &str| self.scene.path(format!("k{host}.{ending}"));
        let mut command = self.inside(host, "keepalived");
        command.arg("-n").arg("-f").arg(path("conf"));
        command.arg("-p").arg(path("pid")).arg("-r").arg(path("vrrp"));
        let child = command.spawn().unwrap();
        self.running.push(child);
        self.running.len() - 1
    }

    /// A host with an address of IPv6 as well.
    fn host6(&mut self) -> usize {
        let host = self.host();
        self.ip(host, &format!("addr add fd00:9::{host}/64 dev eth0 nodad"));
        host
    }

    /// A host on VLAN `vlan` of the bridge, by its interface `tag`; none where the kernel has no
    /// VLANs.
    fn host_of_vlan(&mut self, vlan: u8) -> Option<usize> {
        let host = self.host();
        let number = vlan.to_string();
        let words = ["link", "add", "link", "eth0", "name", "tag", "type", "vlan", "id", &number];
        let mut command = Command::new("ip");
        command.args(["-n", &self.spaces[host]]).args(words);
        if !command.output().unwrap().status.success() {
            eprintln!("skipped: the kernel makes no interfaces of VLANs");
            return None;
        }
        self.ip(host, &format!("addr add 10.9.{vlan}.{host}/24 dev tag"));
        self.ip(host, "link set tag up");
        Some(host)
    }

    fn ucarp(&mut self, id: u8) {
        let host = self.host();
        let source = format!("10.9.0.{host}");
        let mut command = self.inside(host, "ucarp");
        command.args(["-i", "eth0", "-s", &source, "-v", &id.to_string(), "-p", "secret"]);
        command.args(["-a", "10.9.0.200", "-u", "/bin/true", "-d", "/bin/true"]);
        let child = command.spawn().unwrap();
        self.running.push(child);
    }

    fn stop(&mut self, running: usize) {
        terminate(&mut self.running[running]);
    }

    /// The program at the bridge, for so long.
    fn listener(&self, duration: &str) -> Child {
        let mut command = self.inside(0, env!("CARGO_BIN_EXE_plimsoll"));
        command.args(["scan", "--interface", "br0", "--json", "--duration", duration]);
        command.stdout(Stdio::piped()).stderr(Stdio::piped());
        command.spawn().unwrap()
    }
}

fn terminate(child: &mut Child) {
    let _ = run(&["kill", &child.id().to_string()]);
    let _ = child.wait();
}

impl Drop for Net {
    fn drop(&mut self) {
        self.running.iter_mut().for_each(terminate);
        for space in &self.spaces {
            let _ = run(&["ip", "netns", "del", space]);
        }
    }
}

/// Status and answer of a listener at its end.
fn heard(listener: Child) -> (Option<i32>, Value) {
    let ran = Ran::of(&listener.wait_with_output().unwrap());
    let json: Value = serde_json::from_str(&ran.out).unwrap_or_else(|_| panic!("{}", ran.err));
    (ran.code, json["scans"][0].clone())
}

fn clashes(scan: &Value) -> Vec<String> {
    let findings = scan["findings"].as_array().unwrap().iter();
    let clashes = findings.filter(|finding| finding["clash"] == true);
    clashes.map(|finding| finding["problem"].as_str().unwrap().to_owned()).collect()
}

#[test]
fn healthy_routers_and_a_failover_are_no_clash() {
    let Some(mut net) = Net::new("scan-healthy") else {
        return;
    };
    let master = net.keepalived(3, 1, 200, 100);
    net.keepalived(3, 1, 100, 100);
    net.keepalived(2, 2, 100, 102);
    net.ucarp(3);
    sleep(STARTUP);
    let listener = net.listener("14s");
    sleep(Duration::from_secs(5));
    net.stop(master);
    let (code, scan) = heard(listener);
    assert_eq!((code, clashes(&scan)), (Some(0), Vec::<String>::new()), "{scan}");
    let owners = scan["owners"].as_array().unwrap();
    let ids = [1, 2, 3].map(|id| owners.iter().filter(|owner| owner["id"] == id).count());
    assert_eq!(ids, [2, 1, 1], "both masters of id 1, one after the other: {scan}");
    assert_eq!(scan["free_ids"][0]["ranges"], serde_json::json!([[4, 255]]));
}

#[test]
fn versions_that_do_not_hear_each_other_clash_live_and_in_a_capture() {
    let Some(mut net) = Net::new("scan-versions") else {
        return;
    };
    net.keepalived(3, 1, 100, 100);
    net.keepalived(2, 1, 100, 101);
    sleep(STARTUP);
    let capture = net.scene.path("clash.pcap");
    let dump = net.inside(0, "tcpdump").args(["-i", "br0", "-U", "-w"]).arg(&capture).spawn();
    let (code, scan) = heard(net.listener("6s"));
    assert_eq!((code, clashes(&scan)), (Some(1), vec!["two_protocols".to_owned()]));
    let mut dump = dump.unwrap();
    terminate(&mut dump);
    if !capture.exists() {
        eprintln!("skipped: tcpdump is not installed");
        return;
    }
    let ran = net.scene.run(["scan", "clash.pcap"]);
    ran.expect_code(1).expect_out(&["CLASH", "VRRP 2 id 1", "VRRP 3 uses the same id", "2-255"]);
}

#[test]
fn an_id_for_two_addresses_clashes_while_one_yields() {
    let Some(mut net) = Net::new("scan-ids") else {
        return;
    };
    net.keepalived(3, 1, 100, 100);
    sleep(STARTUP);
    let listener = net.listener("10s");
    net.keepalived(3, 1, 200, 101);
    let (code, scan) = heard(listener);
    let mut clashes = clashes(&scan);
    // For as long as the first has not yielded yet, both are masters indeed.
    clashes.retain(|clash| clash != "two_masters");
    assert_eq!((code, clashes), (Some(1), vec!["same_id".to_owned()]), "{scan}");
}

#[test]
fn two_masters_that_do_not_hear_each_other_are_found() {
    let Some(mut net) = Net::new("scan-masters") else {
        return;
    };
    // The bridge hears both of them, and passes nothing from one to the other.
    for _ in 0..2 {
        net.keepalived(2, 7, 100, 100);
        let host = net.spaces.len() - 1;
        net.ip(0, &format!("link set v{host} type bridge_slave isolated on"));
    }
    sleep(STARTUP);
    let (code, scan) = heard(net.listener("6s"));
    assert_eq!((code, clashes(&scan)), (Some(1), vec!["two_masters".to_owned()]), "{scan}");
}

/// Lets `listen` see and a capture keep what passes: both must say the same.
fn heard_and_captured(net: &Net, duration: &str) -> (Option<i32>, Value) {
    let capture = net.scene.path("seen.pcap");
    let mut command = net.inside(0, "tcpdump");
    command.args(["-i", "br0", "-U", "-w"]).arg(&capture);
    let Ok(mut dump) = command.spawn() else {
        eprintln!("no capture is compared: tcpdump is not installed");
        return heard(net.listener(duration));
    };
    sleep(Duration::from_secs(1));
    let (code, scan) = heard(net.listener(duration));
    terminate(&mut dump);
    let ran = net.scene.run(["scan", "seen.pcap", "--json"]);
    let json: Value = serde_json::from_str(&ran.out).unwrap();
    let captured = &json["scans"][0];
    assert_eq!((ran.code, clashes(captured)), (code, clashes(&scan)), "{captured}\n{scan}");
    (code, scan)
}

#[test]
fn routers_of_ipv6_are_heard_and_their_clashes_found() {
    let Some(mut net) = Net::new("scan-six") else {
        return;
    };
    for priority in [200, 100] {
        let host = net.host6();
        net.router(host, "eth0", (3, 9, priority), "fd00:9::100");
    }
    net.keepalived(3, 9, 100, 100);
    sleep(STARTUP);
    let (code, scan) = heard_and_captured(&net, "6s");
    assert_eq!((code, clashes(&scan)), (Some(0), vec![]), "{scan}");
    let owners = scan["owners"].as_array().unwrap();
    let of_six = owners.iter().find(|owner| owner["family"] == "v6");
    assert_eq!(of_six.unwrap()["addresses"], serde_json::json!(["fd00:9::100"]), "{scan}");

    // The bridge passes nothing between two of the same id.
    for host in 1..=2 {
        let words = format!("link set v{host} type bridge_slave isolated on");
        net.ip(0, &words);
    }
    sleep(STARTUP);
    let (code, scan) = heard_and_captured(&net, "6s");
    assert_eq!((code, clashes(&scan)), (Some(1), vec!["two_masters".to_owned()]), "{scan}");
}

#[test]
fn ids_of_another_vlan_are_free_and_those_of_the_same_one_clash() {
    let Some(mut net) = Net::new("scan-vlans") else {
        return;
    };
    for vlan in [5, 6] {
        let Some(host) = net.host_of_vlan(vlan) else {
            return;
        };
        net.router(host, "tag", (2, 1, 100), &format!("10.9.{vlan}.100"));
    }
    net.keepalived(2, 1, 100, 100);
    sleep(STARTUP);
    let (code, scan) = heard_and_captured(&net, "6s");
    assert_eq!((code, clashes(&scan)), (Some(0), vec![]), "{scan}");
    assert_eq!(scan["owners"].as_array().unwrap().len(), 3, "{scan}");
    let host = net.host_of_vlan(5).unwrap();
    net.router(host, "tag", (3, 1, 100), "10.9.5.101");
    sleep(STARTUP);
    let (code, scan) = heard_and_captured(&net, "6s");
    assert_eq!((code, clashes(&scan)), (Some(1), vec!["two_protocols".to_owned()]), "{scan}");
}

#[test]
fn carp_beside_vrrp_clashes() {
    let Some(mut net) = Net::new("scan-carp") else {
        return;
    };
    net.keepalived(3, 1, 100, 100);
    sleep(STARTUP);
    let listener = net.listener("10s");
    sleep(Duration::from_secs(3));
    net.ucarp(1);
    let (code, scan) = heard(listener);
    assert_eq!((code, clashes(&scan)), (Some(1), vec!["two_protocols".to_owned()]), "{scan}");
}

#[test]
fn what_cannot_be_read_is_refused() {
    let scene = Scene::new("scan-refused");
    scene.write("text.txt", b"no capture, only text, and long enough for a header");
    scene.run(["scan", "text.txt"]).expect_refusal(&["text.txt", "no capture", "pcapng"]);
    scene
        .run(["scan", "--interface", "plimsoll-none"])
        .expect_refusal(&["plimsoll-none", "read a capture instead"]);
    scene.run(["scan"]).expect_code(64);
    let mut empty = vec![0xD4, 0xC3, 0xB2, 0xA1, 2, 0, 4, 0];
    empty.extend([0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 4, 0, 1, 0, 0, 0]);
    scene.write("empty.pcap", &empty);
    // Nothing was seen, so nothing is proved.
    scene.run(["scan", "empty.pcap"]).expect_code(2);
}
